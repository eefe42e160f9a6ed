import { isExactRedirect, isLoopback, loopbackParts } from "../Loopback.ts"
import { firstCharacters, visible } from "../Text.ts"
import type { AgentClient } from "./Agent.ts"

/** Clients that sign in by the server's URL, and where their users may be sent back to (docs/contract.md, Agent sign-in). */

/** How many redirects a client may register. */
export const maxRedirects = 10

/** How many characters of the name that a client gives itself are kept. */
const maxClientName = 100

/** A client, as its document or its registration describes it. */
export interface OAuthClient {
  /** The URL of its document, or the id that it was registered by. */
  readonly id: string
  readonly kind: "document" | "registered"
  readonly name: string
  readonly redirectUris: ReadonlyArray<string>
  /** Which agent it is; `other` goes by the client's name. */
  readonly agent: AgentClient | "other"
}

const callbacks = ["http://localhost/callback", "http://127.0.0.1/callback"]

/** The documents of well-known clients, by their exact URL, so that none is fetched. */
export const knownClients: ReadonlyArray<OAuthClient> = [
  {
    id: "https://claude.ai/oauth/claude-code-client-metadata",
    kind: "document",
    name: "Claude Code",
    redirectUris: callbacks,
    agent: "claude"
  },
  {
    id: "https://chatgpt.com/oauth/codex/client.json",
    kind: "document",
    name: "Codex",
    redirectUris: callbacks,
    agent: "codex"
  },
  {
    id: "https://vscode.dev/oauth/client-metadata.json",
    kind: "document",
    name: "Visual Studio Code",
    redirectUris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
    agent: "other"
  }
]

/**
 * Whether a client may register the redirect: https, http to the user's own computer, or a scheme of an app, which is a domain
 * in reverse (RFC 8252, section 7.1), and none that looks like a scheme of browsers.
 */
export const isRedirect = (redirect: string): boolean => {
  if (!isExactRedirect(redirect)) return false
  const { hostname, password, protocol, username } = new URL(redirect)
  if (username !== "" || password !== "" || /^[^/]*\/\/[^/?]*@/.test(redirect)) return false
  if (protocol === "https:") return /^https:\/\/[^/?]/.test(redirect) && hostname !== ""
  if (protocol === "http:") return isLoopback(redirect)
  return /^(?!(about|blob|data|file|javascript|vbscript)\.)[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:/.test(redirect)
}

/** Whether a client may ask for the redirect: as it was registered, on the user's own computer at any port (RFC 8252). */
export const isRegisteredRedirect = (registered: ReadonlyArray<string>, asked: string): boolean => {
  if (!isRedirect(asked)) return false
  if (registered.includes(asked)) return true
  const own = loopbackParts(asked)
  if (own === undefined) return false
  return registered.some((redirect) => {
    const theirs = loopbackParts(redirect)
    return theirs !== undefined && theirs["host"] === own["host"] && theirs["rest"] === own["rest"]
  })
}

/** The name that a client gives itself, as people are shown it: nothing hidden, and never empty. */
export const claimedName = (name: string): string => {
  const shown = firstCharacters(visible(name.trim()), maxClientName).trim()
  return shown === "" ? "Unnamed client" : shown
}
