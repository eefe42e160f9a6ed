import { Email, Name } from "@delivery/domain/Text"
import { type Effect, Option, Schema } from "effect"
import type { IssuerError } from "./Issuers.ts"

/** Who somebody is, by the word of a provider. */
export interface ProvenAccount {
  readonly issuer: string
  readonly subject: string
  /** In lower case; null where the provider names none. */
  readonly email: string | null
  /** Whether the provider says that it has verified the address. */
  readonly isVerified: boolean
  readonly name: string | null
  /** When they last proved it to the provider, in milliseconds; null where it does not say. */
  readonly provedAt: number | null
}

/** What binds the answer of a provider to its question. */
export interface Question {
  readonly state: string
  readonly nonce: string
  /** Of PKCE. */
  readonly verifier: string
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string
}

/** By whom people sign in (docs/contract.md, Single sign-on). */
export interface Provider {
  readonly id: string
  /** For people. */
  readonly name: string
  readonly method: "oidc" | "github"
  /** Whether identities of the issuer are of this provider. */
  readonly isIssuer: (issuer: string) => boolean
  /** The address of its page. With `isProof`, whoever is signed in there must show it again, where the provider can ask. */
  readonly page: (question: Question, isProof: boolean) => Effect.Effect<URL, IssuerError>
  /** Who came back with the parameters of an answer, once. */
  readonly identify: (
    question: Question,
    answer: URLSearchParams,
    isProof: boolean
  ) => Effect.Effect<ProvenAccount, IssuerError>
}

/** `corp_login` is shown as `Corp Login`. */
export const nameOf = (id: string): string =>
  id
    .split("_")
    .filter((word) => word !== "")
    .map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`)
    .join(" ")

/** The address at which a browser came back. */
export const answerUrl = ({ redirectUri }: Question, answer: URLSearchParams): URL => {
  const url = new URL(redirectUri)
  url.search = answer.toString()
  return url
}

const emailOf = Schema.decodeUnknownOption(Email)
const personName = Schema.decodeUnknownOption(Name(100))

/**
 * Whether the address that was verified is, but for capitals, the one that is kept: blanks at the ends are left out, and a
 * capital may be written as two characters, so another mailbox could be taken for the person's.
 */
const isSameAddress = (email: unknown): boolean =>
  typeof email === "string" && email === email.trim() && email === email.normalize("NFKC")

/** The account as a provider describes it, whatever it sent as address and name. */
export const accountOf = (described: {
  readonly issuer: string
  readonly subject: string
  readonly email: unknown
  readonly isVerified: boolean
  readonly name: unknown
  readonly provedAt: number | null
}): ProvenAccount => {
  const email = Option.getOrNull(emailOf(described.email))
  const name = Option.getOrNull(personName(described.name))
  return {
    ...described,
    email,
    isVerified: described.isVerified && email !== null && isSameAddress(described.email),
    name
  }
}
