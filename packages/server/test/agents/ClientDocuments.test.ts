import type { Authorization } from "@delivery/domain/agents/Authorizations"
import { Layer } from "effect"
import { NetAddress } from "effect/net"
import type { ServerResponse } from "node:http"
import { afterAll, assert, describe, it } from "vitest"
import { maxDocumentBytes } from "../../src/agents/ClientDocuments.ts"
import { maxDocuments } from "../../src/agents/OAuthClients.ts"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { isPublicAddress } from "../../src/http/PublicAddresses.ts"
import { type Http, onServers, refusal, signIn, withClockOnServers } from "../support/Http.ts"
import { publicAddress, startInternet } from "./DocumentServer.ts"
import { allow, askForAccess, authorize, authorizeQuery, callback, exchange, newClient } from "./OAuthScene.ts"

/** Clients that a document at their id describes (docs/contract.md, Sign-in by the server's URL). Each suite has its own network. */

const id = "https://client.example/client.json"
const described = (fields: object = {}) => ({
  client_id: id,
  client_name: "Doc\u200b",
  redirect_uris: [callback],
  ...fields
})

const json =
  (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  (_: unknown, response: ServerResponse) =>
    void response
      .writeHead(200, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : JSON.stringify(body))

let networks = 0
/** From a network address of its own: for one, only so many documents are fetched. */
const asked = (http: Http, clientId = id) =>
  askedFrom(http, `10.0.${Math.floor(++networks / 256)}.${networks % 256}`, clientId)

const askedFrom = async (http: Http, network: string, clientId = id) => {
  const headers = { "x-forwarded-for": network }
  const path = `/agent/oauth/authorize${authorizeQuery(newClient({ clientId }))}`
  const answer = await http.as(undefined).send("GET", path, { headers })
  if (answer.status !== 400) return refusal(answer)
  assert.isUndefined(answer.headers.location)
  return `${refusal(answer)}: ${(answer.body as { readonly error_description: string }).error_description}`
}

const internets: Array<Awaited<ReturnType<typeof startInternet>>> = []
const newInternet = async () => {
  const made = await startInternet()
  internets.push(made)
  return made
}
const [open, closed, timed, limited] = [
  await newInternet(),
  await newInternet(),
  await newInternet(),
  await newInternet()
]
afterAll(() => {
  for (const { stop } of internets) stop()
})

const serverIn =
  ({ layer }: { readonly layer: Layer.Layer<never> }) =>
  (environment: Readonly<Record<string, string>> = {}) =>
    Layer.provide(DeliveryServer.layerMemory(environment), layer)

onServers(
  [["memory", serverIn(open)]],
  "A client that its document describes",
  (test) => {
    const { answers, connections, lookups, names, requests } = open.internet

    test("is let in as it describes itself, fetched once for each request, from the address that was checked", async (owner) => {
      answers.set("/client.json", json(described()))
      const session = await signIn(owner, "owner@example.com")
      const client = newClient({ clientId: id })
      const { body } = await session.send<Authorization>(
        "GET",
        `/auth/v1/authorizations/${await askForAccess(owner, client)}`
      )
      assert.deepStrictEqual(body.client, { id, name: "Doc\\u{200B}", kind: "document" })
      assert.deepStrictEqual(
        [lookups, connections, requests].map((list) => list.splice(0)),
        [["client.example"], [`${publicAddress}:443`], ["client.example/client.json"]]
      )
      assert.strictEqual((await exchange(owner, await allow(session, client), client)).status, 200)
      const { agents } = await owner.get<{ agents: ReadonlyArray<{ name: string }> }>("agents")
      assert.deepStrictEqual(
        agents.map(({ name }) => name),
        ["Doc\\u{200B}"]
      )
    })

    test("sends nobody to a page of its own before somebody has decided", async (owner) => {
      const page = "https://client.example/callback"
      answers.set("/client.json", json(described({ redirect_uris: [page, callback] })))
      const wrong = (redirectUri: string) =>
        authorize(owner, authorizeQuery(newClient({ clientId: id, redirectUri }), { response_type: "token" }))
      const refused = await wrong(page)
      assert.isUndefined(refused.headers.location)
      assert.strictEqual(refusal(refused), "400 unsupported_response_type")
      assert.strictEqual((await wrong(callback)).status, 303)
      await askForAccess(owner, newClient({ clientId: id, redirectUri: page }))
      for (const list of [lookups, connections, requests]) list.splice(0)
    })

    test("is refused where its document says something else than it may", async (owner) => {
      const cases: ReadonlyArray<readonly [document: unknown, why: RegExp]> = [
        [described({ client_id: `${id}/` }), /client_id/],
        [described({ client_id: undefined }), /client_id/],
        [described({ token_endpoint_auth_method: "private_key_jwt" }), /public/],
        [described({ client_secret: "x" }), /public/],
        [described({ redirect_uris: [] }), /redirect_uris/],
        [described({ redirect_uris: undefined }), /redirect_uris/],
        [
          described({ redirect_uris: Array.from({ length: 11 }, (_, index) => `https://a.example/${index}`) }),
          /1 to 10/
        ],
        [described({ redirect_uris: [callback, "javascript:alert(1)"] }), /redirect must be/],
        [described({ client_name: 1 }), /client_name/],
        [described({ grant_types: ["client_credentials"] }), /grant_types/],
        [[described()], /JSON object/],
        ["null", /JSON object/],
        ["{", /JSON object/],
        ["", /JSON object/]
      ]
      for (const [document, why] of cases) {
        answers.set("/client.json", json(document))
        const answer = await asked(owner)
        assert.match(answer, /^400 invalid_client: /, JSON.stringify(document))
        assert.match(answer, why)
      }
      answers.set("/client.json", json(described({ redirect_uris: ["https://app.example/callback"] })))
      assert.match(await asked(owner), /^400 invalid_request: /)
      answers.set("/client.json", json(described({ token_endpoint_auth_method: "none" })))
      assert.strictEqual(await asked(owner), "303")
    })

    test("is refused where its document is not answered plainly, and no redirect is followed", async (owner) => {
      requests.splice(0)
      answers.set("/other.json", json(described()))
      for (const status of [201, 204, 206, 301, 302, 303, 307, 308, 304, 400, 401, 404, 500]) {
        answers.set("/client.json", (_, response) =>
          response
            .writeHead(status, { "content-type": "application/json", location: "https://client.example/other.json" })
            .end(status === 204 || status === 304 ? undefined : JSON.stringify(described()))
        )
        assert.match(await asked(owner), /^400 invalid_client: .*another status than 200/, String(status))
      }
      assert.deepStrictEqual([...new Set(requests)], ["client.example/client.json"])
      for (const type of ["text/html", "text/plain", "application/jsonx", "application/json-seq", ""]) {
        answers.set("/client.json", json(described(), { "content-type": type }))
        assert.match(await asked(owner), /^400 invalid_client: .*application\/json/, type)
      }
      answers.set("/client.json", json(described(), { "content-type": "Application/client+json; charset=utf-8" }))
      assert.strictEqual(await asked(owner), "303")
      answers.set("/client.json", (_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "400" }).write("{")
        response.destroy()
      })
      assert.match(await asked(owner), /^400 invalid_client: /)
      answers.set("/client.json", (request) => request.socket.destroy())
      assert.match(await asked(owner), /^400 invalid_client: .*does not answer/)
    })

    test("is refused where its document is larger than 5 kB, and no more of it is read", async (owner) => {
      const sized = (bytes: number) => {
        const text = JSON.stringify(described({ padding: "" }))
        return text.replace('"padding":""', `"padding":"${"x".repeat(bytes - text.length)}"`)
      }
      assert.lengthOf(Buffer.from(sized(maxDocumentBytes)).toString("latin1"), maxDocumentBytes + 2)
      answers.set("/client.json", json(sized(maxDocumentBytes - 2)))
      assert.strictEqual(await asked(owner), "303")
      answers.set("/client.json", json(sized(maxDocumentBytes + 1)))
      assert.match(await asked(owner), /^400 invalid_client: .*larger than 5 kB/)
      // 5 MB whose length nobody says.
      let written = 0
      const left = new Promise<void>((resolve) => {
        answers.set("/client.json", (_, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          const write = () => {
            while (written < 5_000_000 && !response.destroyed) {
              written += 50_000
              if (!response.write("x".repeat(50_000))) return void response.once("drain", write)
            }
          }
          response.on("close", resolve)
          write()
        })
      })
      assert.match(await asked(owner), /^400 invalid_client: .*larger than 5 kB/)
      await left
      assert.isBelow(written, 5_000_000)
    })

    test("is never fetched from an address that is not public, whatever else its host has", async (owner) => {
      answers.set("/client.json", json(described()))
      connections.splice(0)
      for (const addresses of [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["::ffff:93.184.216.34"],
        ["64:ff9b::7f00:1"],
        ["fd00::1"],
        ["fe80::1"],
        ["2002:7f00:1::"],
        ["0.0.0.0"],
        [publicAddress, "10.0.0.1"],
        ["192.168.1.1", publicAddress]
      ]) {
        names.set("private.client.example", [addresses])
        const answer = await asked(owner, "https://private.client.example/client.json")
        assert.match(answer, /^400 invalid_client: .*public internet/, addresses.join())
      }
      names.set("nowhere.client.example", [[]])
      const nowhere = await asked(owner, "https://nowhere.client.example/client.json")
      assert.match(nowhere, /^400 invalid_client: .*its host is not found/)
      for (const host of ["127.0.0.1", "127.0.0.1:8443", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "localhost"]) {
        assert.match(await asked(owner, `https://${host}/client.json`), /^400 invalid_client: /, host)
      }
      assert.deepStrictEqual(connections, [])
    })

    test("is fetched from the address that was checked, also where the next look-up gives another", async (owner) => {
      const clientId = "https://rebound.client.example/client.json"
      names.set("rebound.client.example", [[publicAddress], ["127.0.0.1"]])
      answers.set("/client.json", json(described({ client_id: clientId })))
      connections.splice(0)
      assert.strictEqual(await asked(owner, clientId), "303")
      assert.deepStrictEqual(connections, [`${publicAddress}:443`])
      assert.match(await asked(owner, clientId), /^400 invalid_client: .*public internet/)
      assert.deepStrictEqual(connections, [`${publicAddress}:443`])
    })

    test("is fetched by a host that proves its name", async (owner) => {
      names.set("other.example", [[publicAddress]])
      answers.set("/client.json", json(described({ client_id: "https://other.example/client.json" })))
      assert.match(await asked(owner, "https://other.example/client.json"), /^400 invalid_client: .*answer by https/)
    })

    test("has an https URL with a path that a parser leaves as it is; nothing else is looked up", async (owner) => {
      lookups.splice(0)
      for (const clientId of [
        "http://client.example/client.json",
        "https://client.example",
        "https://client.example/",
        "https://client.example/a#b",
        "https://client.example/a#",
        "https://user@client.example/a",
        "https://client.example/a/../client.json",
        "https://client.example/./client.json",
        "https://CLIENT.example/client.json",
        "https://client.example:443/client.json",
        "https://2130706433/client.json",
        "https://0x7f.1/client.json",
        "https:client.example/client.json",
        "https://client.example\\client.json",
        "https://client.example/client .json",
        "https://client.example/\u00e4",
        "ftp://client.example/client.json",
        `https://client.example/${"x".repeat(2_000)}`
      ]) {
        assert.match(await asked(owner, clientId), /^400 invalid_client: /, clientId)
      }
      assert.deepStrictEqual(lookups, [])
    })
  },
  { OAUTH_CLIENT_DOCUMENTS: "public", TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }
)

onServers([["memory", serverIn(closed)]], "Documents of clients, by default", (test) => {
  test("are not fetched, not even looked up", async (owner) => {
    closed.internet.answers.set("/client.json", json(described()))
    assert.match(await asked(owner), /^400 invalid_client: /)
    assert.deepStrictEqual([closed.internet.lookups, closed.internet.connections], [[], []])
  })
})

withClockOnServers(
  [["memory", serverIn(timed)]],
  "The time of a document",
  (test) => {
    test("is three seconds in all, however it trickles", async (owner, advance) => {
      const { answers } = timed.internet
      const arrived = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      answers.set("/client.json", (_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write("{")
        response.on("close", left.resolve)
        arrived.resolve()
      })
      const answer = asked(owner)
      await arrived.promise
      advance("2999 millis")
      advance("1 milli")
      assert.match(await answer, /^400 invalid_client: .*longer than 3 s/)
      await left.promise
    })
  },
  { OAUTH_CLIENT_DOCUMENTS: "public", TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }
)

onServers(
  [["memory", serverIn(limited)]],
  "The number of documents",
  (test) => {
    test("is limited for a network address in an hour", async (owner) => {
      limited.internet.answers.set("/client.json", json(described()))
      const statuses: Array<string> = []
      for (let count = 0; count <= maxDocuments; count++) statuses.push(await askedFrom(owner, "10.1.0.1"))
      assert.deepStrictEqual(statuses, [...Array<string>(maxDocuments).fill("303"), "429"])
      assert.strictEqual(await asked(owner), "303")
      assert.lengthOf(limited.internet.requests, maxDocuments + 1)
    })
  },
  { OAUTH_CLIENT_DOCUMENTS: "public", TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }
)

describe("isPublicAddress", () => {
  it("knows the ranges that IANA has reserved, at both ends", () => {
    const isPublic = (text: string) => isPublicAddress(NetAddress.ipFromStringUnsafe(text))
    for (const text of [
      ..."0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255".split(
        " "
      ),
      ..."169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255".split(" "),
      ..."192.88.99.0 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.1".split(" "),
      ..."224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255".split(" "),
      ...":: ::1 ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:1ff::1 2001:db8::1".split(
        " "
      ),
      ..."2002:808:808::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fdff::1 fe80::1 fec0::1 ff02::1 4000::1 1fff::1".split(
        " "
      )
    ]) {
      assert.isFalse(isPublic(text), text)
    }
    for (const text of [
      ..."1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255".split(
        " "
      ),
      ..."169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255".split(
        " "
      ),
      ..."198.20.0.0 198.51.99.255 203.0.114.0 223.255.255.255 8.8.8.8".split(" "),
      ..."2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2003::1 2a00::1 3ffe::1 3fff:1000::1".split(" ")
    ]) {
      assert.isTrue(isPublic(text), text)
    }
  })
})
