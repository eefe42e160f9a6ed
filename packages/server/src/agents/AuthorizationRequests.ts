import type { AgentScope } from "@delivery/domain/agents/Agent"
import { maxState } from "@delivery/domain/agents/OAuth"
import { knownClients } from "@delivery/domain/agents/OAuthClients"
import { isLoopback } from "@delivery/domain/Loopback"
import { isCodeChallenge } from "@delivery/domain/Pkce"
import { hasScope, isScope } from "./SignIns.ts"

/** What the authorization endpoint is asked, read (RFC 6749, section 4.1.1; RFC 7636; RFC 8707). */

/** Why nobody is asked (RFC 6749, section 4.1.2). */
export interface RedirectError {
  readonly error:
    | "invalid_request"
    | "unsupported_response_type"
    | "invalid_scope"
    | "invalid_target"
    | "temporarily_unavailable"
  readonly error_description: string
}

/**
 * Whether a browser is sent to the redirect before anybody has decided: to the person's own computer, or for a client that is
 * built in. Anybody can describe or register a client whose redirect is a page of their own (RFC 9700, section 4.11.2).
 */
export const isTrusted = (clientId: string, redirectUri: string): boolean =>
  isLoopback(redirectUri) || knownClients.some(({ id }) => id === clientId)

/** What a client asks for, once its redirect is known. */
export interface AskedAccess {
  readonly scope: AgentScope
  readonly codeChallenge: string
}

/** A field of the query; undefined where it is missing or empty, or there are several. */
export const single = (query: URLSearchParams, name: string): string | undefined => {
  const [value, ...others] = query.getAll(name)
  return value === "" || others.length > 0 ? undefined : value
}

/** The value of `state`, to be sent back whatever else is wrong. */
export const stateOf = (query: URLSearchParams): string | undefined => {
  const state = single(query, "state")
  return state === undefined || state.length > maxState ? undefined : state
}

const names = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method"
] as const

const invalid = (error_description: string): RedirectError => ({ error: "invalid_request", error_description })

/** What the client asks for, or what is wrong with it. */
export const readAccess = (query: URLSearchParams, resource: string): AskedAccess | RedirectError => {
  const repeated = names.find((name) => query.getAll(name).length > 1)
  if (repeated !== undefined) return invalid(`${repeated} must not be repeated.`)
  const state = query.get("state") ?? ""
  if (state.length > maxState || !/^[ -~]*$/.test(state)) {
    return invalid(`state must be at most ${maxState} visible ASCII characters.`)
  }
  const responseType = single(query, "response_type")
  if (responseType === undefined) return invalid("response_type is missing.")
  if (responseType !== "code") {
    return { error: "unsupported_response_type", error_description: "The only response type is code." }
  }
  const codeChallenge = single(query, "code_challenge")
  if (query.get("code_challenge_method") !== "S256" || codeChallenge === undefined || !isCodeChallenge(codeChallenge)) {
    return invalid("A code_challenge is required, by the code_challenge_method S256.")
  }
  const scope = single(query, "scope") ?? "write"
  if (!isScope(scope)) return { error: "invalid_scope", error_description: "Scopes are read and write." }
  if (query.getAll("resource").some((target) => target !== "" && target !== resource)) {
    return { error: "invalid_target", error_description: `The only resource is ${resource}.` }
  }
  return { scope: hasScope(scope, "write") ? "read write" : "read", codeChallenge }
}

/** The redirect with an answer in its query. What stands there already stays as it is. */
export const withAnswer = (redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string => {
  const fields = Object.entries(answer).filter((field): field is [string, string] => field[1] !== undefined)
  const separator = !redirectUri.includes("?") ? "?" : /[?&]$/.test(redirectUri) ? "" : "&"
  return `${redirectUri}${separator}${new URLSearchParams(fields).toString()}`
}

/** Who gets the answer, as people are shown it: the host, or the scheme of an app. */
export const hostOf = (redirectUri: string): string => {
  const { host, protocol } = new URL(redirectUri)
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1)
}
