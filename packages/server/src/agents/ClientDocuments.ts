import type { OAuthClient } from "@delivery/domain/agents/OAuthClients"
import { Context, Effect, Layer, Schema } from "effect"
import type { IncomingMessage } from "node:http"
import { Settings } from "../Config.ts"
import { addressOf, OutgoingNetwork, requestTo } from "../http/OutgoingRequests.ts"
import { RequestQueue } from "../http/RequestQueue.ts"
import { describedClient } from "./ClientMetadata.ts"
import { OAuthFailure } from "./SignIns.ts"

/** How large a client's document may be, in bytes. */
export const maxDocumentBytes = 5 * 1024

/** How long a document may take, from the look-up of its host to its last byte, in milliseconds. */
const documentMillis = 3_000

/** Clients that a document at their id describes, fetched where the settings allow it (docs/contract.md, Sign-in by the server's URL). */
export class ClientDocuments extends Context.Service<
  ClientDocuments,
  {
    /** Whether the id is one whose document is fetched. */
    readonly fetches: (id: string) => boolean
    readonly fetch: (id: string) => Effect.Effect<OAuthClient, OAuthFailure>
  }
>()("@delivery/server/agents/ClientDocuments") {
  static readonly layer = Layer.effect(
    ClientDocuments,
    Effect.gen(function* () {
      const { clientDocuments } = (yield* Settings).oauth
      const queue = yield* RequestQueue
      const fetch = fetchClient(yield* OutgoingNetwork)
      return ClientDocuments.of({
        fetches: (id) => clientDocuments === "public" && isDocumentUrl(id),
        // Others are worked on meanwhile.
        fetch: (id) => queue.releaseWhile(fetch(id))
      })
    })
  )
}

/** Whether a client may have the id: an https URL with a path, as a parser would write it, which nothing is left out of. */
const isDocumentUrl = (id: string): boolean => {
  if (id.length > 2_000 || !/^https:\/\/[!-~]+$/.test(id) || !URL.canParse(id)) return false
  const { hash, href, password, pathname, username } = new URL(id)
  return href === id && hash === "" && !id.includes("#") && username === "" && password === "" && pathname !== "/"
}

const fetchClient = (network: OutgoingNetwork) =>
  Effect.fn("ClientDocuments.fetch")(
    function* (id: string): Effect.fn.Return<OAuthClient, OAuthFailure> {
      const url = new URL(id)
      const address = yield* Effect.mapError(addressOf(network, url), (why) =>
        unusable(why === "unknown_host" ? "its host is not found" : "its host is not on the public internet")
      )
      const document = yield* Effect.mapError(decodeJson(yield* get(network, url, address)), () =>
        unusable("it is not a JSON object")
      )
      if (document["client_id"] !== id) return yield* unusable("its client_id is not its own URL")
      const method = document["token_endpoint_auth_method"] ?? "none"
      if (method !== "none" || "client_secret" in document) return yield* unusable("its client is not a public one")
      const { name, redirectUris } = yield* Effect.mapError(describedClient(document), ({ description }) =>
        unusable(`it describes no client that can sign in. ${description}`)
      )
      return { id, kind: "document", name, redirectUris, agent: "other" }
    },
    (effect) =>
      Effect.timeoutOrElse(effect, {
        duration: documentMillis,
        orElse: () => Effect.fail(unusable(`it took longer than ${documentMillis / 1_000} s`))
      })
  )

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const unusable = (why: string) =>
  new OAuthFailure({
    status: 400,
    error: "invalid_client",
    description: `The document of the client is not used: ${why.replace(/\.$/, "")}.`
  })

/** The body of the document, from the address that was checked, and from no other. */
const get = (network: OutgoingNetwork, url: URL, address: string) =>
  Effect.callback<string, OAuthFailure>((resume) => {
    const fail = (why: string) => resume(Effect.fail(unusable(why)))
    const headers = { accept: "application/json", "accept-encoding": "identity" }
    const outgoing = requestTo(network, url, address, { method: "GET", headers })
    outgoing.on("error", () => fail("its host does not answer by https"))
    outgoing.on("response", (response) => {
      response.on("error", () => fail("it was cut off"))
      const why = refusalOf(response)
      if (why !== undefined) {
        fail(why)
        outgoing.destroy()
        return
      }
      const chunks: Array<Buffer> = []
      let size = 0
      response.on("data", (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size > maxDocumentBytes) {
          fail(tooLarge)
          outgoing.destroy()
        }
      })
      response.on("end", () => resume(Effect.succeed(Buffer.concat(chunks).toString())))
    })
    outgoing.end()
    return Effect.sync(() => outgoing.destroy())
  })

const tooLarge = `it is larger than ${maxDocumentBytes / 1024} kB`

/** Why an answer is not read; undefined where it is. */
const refusalOf = ({ headers, statusCode }: IncomingMessage): string | undefined => {
  if (statusCode !== 200) return "it is answered by another status than 200, and redirects are not followed"
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return "it is not application/json"
  return Number(headers["content-length"] ?? 0) > maxDocumentBytes ? tooLarge : undefined
}
