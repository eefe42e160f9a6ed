import { InvalidInput } from "@delivery/domain/Errors"
import { Effect, Stream } from "effect"

/** The body of an upload, and what its headers say of it. */

/** The size that `Content-Length` declares, at most `maxBytes` (docs/contract.md, Files). */
export const declaredSize = (
  contentLength: string | undefined,
  maxBytes: number
): Effect.Effect<number, InvalidInput> => {
  if (contentLength === undefined) return Effect.fail(InvalidInput.at("Content-Length", "The header is required."))
  if (!/^\d+$/.test(contentLength)) return Effect.fail(InvalidInput.at("Content-Length", "Expected a number of bytes"))
  const size = Number(contentLength)
  return size <= maxBytes
    ? Effect.succeed(size)
    : Effect.fail(InvalidInput.at("Content-Length", `Expected at most ${maxBytes} bytes`))
}

/** The body, which must have the size that was declared. */
export const ofSize = <E>(body: Stream.Stream<Uint8Array, E>, size: number): Stream.Stream<Uint8Array, InvalidInput> =>
  Stream.suspend(() => {
    let seen = 0
    const sizeMismatch = (amount: string) =>
      Effect.fail(InvalidInput.at("Content-Length", `The body has ${amount} bytes than Content-Length says.`))
    return body.pipe(
      Stream.mapArrayEffect((chunks) => {
        for (const chunk of chunks) seen += chunk.length
        return seen > size ? sizeMismatch("more") : Effect.succeed(chunks)
      }),
      Stream.catch((error) =>
        Stream.fromEffect(error instanceof InvalidInput ? Effect.fail(error) : sizeMismatch("fewer"))
      ),
      Stream.concat(
        Stream.drain(Stream.fromEffect(Effect.suspend(() => (seen < size ? sizeMismatch("fewer") : Effect.void))))
      )
    )
  })

const token = "[!#$%&'*+.^_`|~\\w-]+"
const quoted = String.raw`"(?:[\t !#-[\]-~]|\\[\t -~])*"`

/** A media type with its parameters (RFC 9110, section 8.3.1), in ASCII. */
const mediaType = new RegExp(`^${token}/${token}(?:[\\t ]*;(?:[\\t ]*${token}=(?:${token}|${quoted}))?)*[\\t ]*$`)

/** The type as downloads answer it: the default where none was sent, or a malformed one. */
export const storableType = (contentType: string | undefined): string =>
  contentType !== undefined && contentType.length <= 255 && mediaType.test(contentType)
    ? contentType
    : "application/octet-stream"
