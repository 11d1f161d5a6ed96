// Package posterior conditions one channel of the smoother on data in closed
// form, and carries gradients back through that conditioning.
//
// With features Phi (N×F), residuals r = y − prior mean, and precisions
// s_i = c/σ_i² (c tempers a likelihood that counts a sample several times):
//
//	A = I + Φᵀ diag(s) Φ = L Lᵀ      w = A⁻¹ Φᵀ diag(s) r      e = r − Φw
//	mean = φ·w      var = ‖L⁻¹φ‖²      dmean = φ̇·w      dvar = ‖L⁻¹φ̇‖²
//	L_data = ½ [ Σ s e² + ‖w‖² + logdet A + c Σ log σ² ]
//
// For s = 1/σ² this is the paper's appendix (random features, Woodbury) with its
// A divided by σ²; variances are sums of squares and cannot be negative. With
// c = 1 L_data is −log N(r; 0, ΦΦᵀ + D) up to ½ N log 2π.
//
// # Adjoint
//
// Let a, b, g be ∂L/∂mean, ∂L/∂dmean, ∂L/∂dvar at the support points, Φs and Φ̇s
// their features, G = Φ̇s A⁻¹ (rows). Then, from w = A⁻¹q, q = Φᵀ diag(s) r:
//
//	w̄ = Φsᵀa + Φ̇sᵀb      q̄ = A⁻¹w̄      Ā = −q̄wᵀ − Σ g_i G_iᵀG_i
//	Φ̄s = a wᵀ            Φ̇̄s = b wᵀ + 2 diag(g) G
//	Φ̄ = diag(s) [ Φ(A⁻¹ − 2C) − (e wᵀ) + e q̄ᵀ − (Φq̄) wᵀ ],   C = Σ g_i G_iᵀG_i
//	r̄ = s (e + Φq̄)
//	log σ̄_i = c − s_i [ e_i² + φ_i(A⁻¹ − 2C)φ_iᵀ + 2 e_i (Φq̄)_i ]
//
// The first terms (A⁻¹, −ewᵀ, s e, c − s(e² + φA⁻¹φᵀ)) are L_data's own.
//
// The exact kernel does the same with M = K + diag(1/s), N×N: see exact.go.
package posterior
