import { claimedName, isRedirect, maxRedirects } from "@delivery/domain/agents/OAuthClients"
import { Effect } from "effect"
import { OAuthFailure } from "./SignIns.ts"

/** What is kept of a client's metadata (RFC 7591), whether it registers itself or has a document. */
export const describedClient = Effect.fnUntraced(function* (metadata: unknown) {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    return yield* invalidMetadata("The body must be a JSON object.")
  }
  const fields = metadata as Readonly<Record<string, unknown>>
  const redirectUris = fields["redirect_uris"]
  if (!isTexts(redirectUris) || redirectUris.length === 0 || redirectUris.length > maxRedirects) {
    return yield* invalidRedirect(`redirect_uris must be a list of 1 to ${maxRedirects} URLs.`)
  }
  if (!redirectUris.every(isRedirect)) {
    return yield* invalidRedirect(
      "A redirect must be of https, of http to localhost, 127.0.0.1 or [::1], or of the scheme of an app with a dot, without a fragment or a user."
    )
  }
  const name = fields["client_name"] ?? ""
  if (typeof name !== "string") return yield* invalidMetadata("client_name must be a text.")
  for (const [field, needed] of [
    ["grant_types", "authorization_code"],
    ["response_types", "code"]
  ] as const) {
    const value = fields[field] ?? [needed]
    if (!isTexts(value) || !value.includes(needed)) {
      return yield* invalidMetadata(`${field} must be a list with ${needed}.`)
    }
  }
  return { name: claimedName(name), redirectUris: [...new Set(redirectUris)] }
})

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")

const invalidMetadata = (description: string) =>
  new OAuthFailure({ status: 400, error: "invalid_client_metadata", description })
const invalidRedirect = (description: string) =>
  new OAuthFailure({ status: 400, error: "invalid_redirect_uri", description })
