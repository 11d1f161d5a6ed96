// The connection to NATS: it lasts as long as the page, whatever the server does.
import { credsAuthenticator, wsconnect } from "@nats-io/nats-core";

const pause = (ms) => new Promise((f) => setTimeout(f, ms));

/** Connects until the page ends. opened(connection) is called after each new connection, report(text, ok) at every change. */
export async function keepConnected(settings, opened, report) {
  const options = {
    servers: settings.servers, name: "dgm-view", inboxPrefix: "_INBOX_viewer", noEcho: true,
    user: settings.user, pass: settings.password, ignoreClusterUpdates: true,
    maxReconnectAttempts: -1, reconnectTimeWait: 500, reconnectJitter: 500, timeout: 5000, pingInterval: 5000, maxPingOut: 2,
  };
  if (settings.creds) options.authenticator = credsAuthenticator(new TextEncoder().encode(settings.creds));
  for (;;) {
    try {
      report("connecting …", false);
      const nc = await wsconnect(options);
      opened(nc);
      report("connected", true);
      follow(nc, report);
      const why = await nc.closed();
      report(why ? `closed: ${why.message}` : "closed", false);
    } catch (e) {
      report(`no connection: ${e.message}`, false);
    }
    await pause(1500);
  }
}

async function follow(nc, report) {
  for await (const s of nc.status()) {
    if (s.type === "disconnect" || s.type === "reconnecting" || s.type === "staleConnection") report("reconnecting …", false);
    else if (s.type === "reconnect") report("connected", true);
    else if (s.type === "error" && !s.error?.message.includes("dgm.query.")) report(`refused by the server: ${s.error?.message ?? ""}`, true);
  }
}
