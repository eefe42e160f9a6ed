import { Context, Data, Effect } from "effect"

/** How the service talks to issuers, which may be slow, broken or gone, and what it keeps of their failures. */

export interface IssuerLimits {
  /** Milliseconds that one answer may take, with its body. */
  readonly millis: number
  /** Bytes that the body of an answer may have. */
  readonly bytes: number
  /** Milliseconds that must pass before the keys of an issuer are fetched again for a key that is not among them. */
  readonly refetchMillis: number
}

/** The limits of a server (docs/operations.md, Single sign-on). Tests shorten them. */
export const IssuerLimits = Context.Reference<IssuerLimits>("@delivery/server/auth/IssuerLimits", {
  defaultValue: () => ({ millis: 5_000, bytes: 512 * 1024, refetchMillis: 30_000 })
})

/**
 * Why a provider did not say who somebody is: the person refused (`denied`), the provider gave no answer (`unavailable`),
 * or an answer that proves nothing (`failed`). The code says more to the operator, and contains nothing that was sent.
 */
export class IssuerError extends Data.TaggedError("IssuerError")<{
  readonly reason: "denied" | "unavailable" | "failed"
  readonly code: string
}> {}

/** An answer that did not come, or not within the limits. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer"
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

type FetchInit = NonNullable<Parameters<typeof fetch>[1]>

interface FetchOptions {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: FetchInit["body"] | ArrayBuffer
}

/** A fetch that reads the whole answer within the limits, and follows no redirect. */
export const boundedFetch =
  ({ bytes, millis }: Pick<IssuerLimits, "bytes" | "millis">) =>
  async (url: string, { body, headers, method }: FetchOptions): Promise<Response> => {
    const signal = AbortSignal.timeout(millis)
    try {
      const sent = (body ?? null) as NonNullable<FetchInit["body"]> | null
      const answer = await fetch(url, { method, headers, body: sent, redirect: "manual", signal })
      const read = await bodyOf(answer, bytes)
      if (answer.status >= 500) throw new NoAnswer(`HTTP_${answer.status}`)
      return new Response(read, { status: answer.status, headers: answer.headers })
    } catch (error) {
      if (error instanceof NoAnswer) throw error
      throw new NoAnswer(signal.aborted ? "TIMEOUT" : codeOf((error as Error).cause))
    }
  }

const bodyOf = async (answer: Response, limit: number): Promise<Uint8Array<ArrayBuffer> | null> => {
  if (answer.body === null) return null
  const chunks: Array<Uint8Array> = []
  let length = 0
  // Leaving the loop closes the connection.
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > limit) throw new NoAnswer("TOO_LARGE")
    chunks.push(chunk)
  }
  // Answers with these statuses have none, and one made of an empty body would be refused.
  return [204, 205, 304].includes(answer.status) ? null : new Uint8Array(Buffer.concat(chunks))
}

/** What a part of the service has to say about an issuer itself. */
export const failed = (code: string) => new IssuerError({ reason: "failed", code })

/** A word such as `ECONNREFUSED`; nothing that an issuer wrote. */
const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : "UNKNOWN"
}

const errorOf = (error: unknown): IssuerError => {
  if (error instanceof IssuerError) return error
  const { error: word } = (error ?? {}) as { readonly error?: unknown }
  const code = codeOf(error)
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR") {
    return new IssuerError({ reason: word === "access_denied" ? "denied" : "failed", code })
  }
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof NoAnswer) return new IssuerError({ reason: "unavailable", code: cause.code })
  }
  return new IssuerError({ reason: "failed", code })
}

/** Runs what asks an issuer. */
export const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, IssuerError> =>
  Effect.tryPromise({ try: ask, catch: errorOf })
