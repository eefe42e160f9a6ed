import { Redacted, Result } from "effect"
import { isEndpoint, isThisComputer } from "./SettingValues.ts"

/** The settings of single sign-on: `OIDC_<NAME>` and `GITHUB_OAUTH` (docs/operations.md, Single sign-on). */

export interface Client {
  /** In paths, and beside identities. */
  readonly id: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
}

/** A provider by whom people sign in: an issuer of OpenID Connect, or GitHub, which is none. */
export type ProviderSettings =
  | (Client & { readonly kind: "oidc"; readonly issuer: string })
  | (Client & { readonly kind: "github"; readonly url: string })

/** A setting with a wrong value, and what it should be. */
interface Invalid {
  readonly name: string
  readonly expected: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The text of an address that nobody else can read or change on the way, without a user, query or fragment. */
const secureUrl = (text: string): string | undefined => {
  if (!/^https?:\/\/[!-~]+$/.test(text) || !isEndpoint(text)) return undefined
  const { hostname, protocol } = new URL(text)
  return protocol === "https:" || isThisComputer(hostname) ? text : undefined
}

/** What RFC 6749 allows, but for blanks at the ends, which are a mistake. */
const isCredential = (text: string | undefined): text is string =>
  text !== undefined && text.length <= 1000 && /^[!-~](?:[ -~]*[!-~])?$/.test(text)

/** A secret may contain commas. */
const oidcProvider = (id: string, text: string): ProviderSettings | undefined => {
  const [url = "", clientId, ...rest] = text.split(",")
  const issuer = secureUrl(url)
  const clientSecret = rest.join(",")
  if (issuer === undefined || !isCredential(clientId) || !isCredential(clientSecret)) return undefined
  return { kind: "oidc", id, issuer, clientId, clientSecret: Redacted.make(clientSecret) }
}

const gitHub = (text: string): ProviderSettings | undefined => {
  const [clientId, clientSecret, address = "https://github.com", ...rest] = text.split(",")
  const url = secureUrl(address)?.replace(/\/+$/, "")
  if (url === undefined || !isCredential(clientId) || !isCredential(clientSecret) || rest.length > 0) return undefined
  return { kind: "github", id: "github", url, clientId, clientSecret: Redacted.make(clientSecret) }
}

const prefix = "OIDC_"

/** The providers that the environment names, by id; `github` is the last. */
export const readProviders = (environment: Environment): Result.Result<ReadonlyArray<ProviderSettings>, Invalid> => {
  const providers: Array<ProviderSettings> = []
  const names = Object.keys(environment).filter((name) => name.startsWith(prefix))
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    const text = environment[name] ?? ""
    if (text === "") continue
    const isName = /^[A-Z][A-Z0-9_]{0,39}$/.test(name.slice(prefix.length)) && name !== "OIDC_GITHUB"
    if (!isName) return Result.fail({ name, expected: "another name: capitals, digits and _, and not GITHUB" })
    const provider = oidcProvider(name.slice(prefix.length).toLowerCase(), text)
    if (provider === undefined) {
      return Result.fail({
        name,
        expected: "issuer,clientId,clientSecret with an https issuer, or http on this computer"
      })
    }
    providers.push(provider)
  }
  const text = environment["GITHUB_OAUTH"] ?? ""
  if (text === "") return Result.succeed(providers)
  const provider = gitHub(text)
  return provider === undefined
    ? Result.fail({ name: "GITHUB_OAUTH", expected: "clientId,clientSecret, and for GitHub Enterprise ,url" })
    : Result.succeed([...providers, provider])
}
