#!/bin/sh
set -e
systemd-sysusers /usr/lib/sysusers.d/dgm-estimator.conf 2>/dev/null || true
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart dgm-estimator.service || true
fi
