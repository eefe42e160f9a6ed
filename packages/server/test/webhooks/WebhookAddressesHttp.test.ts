import type {
  WebhookDeliveriesPage,
  WebhookDelivery,
  Webhook,
  WebhookWithSecret
} from "@delivery/domain/webhooks/Webhook"
import { Layer } from "effect"
import { afterAll, assert } from "vitest"
import { publicAddress, startInternet } from "../agents/DocumentServer.ts"
import { eventually, type Http, newWorkspace, onServers, unique } from "../support/Http.ts"
import { type Servers, servers } from "../support/Servers.ts"

/** Where webhooks are sent, by the settings that a server has unless told, in a network that is on this computer. */

const { internet, layer, stop } = await startInternet()
afterAll(stop)
const { answers, connections, lookups, names, requests } = internet
answers.set("/hook", (request, response) => {
  request.resume().on("end", () => response.writeHead(204).end())
})

const serversThere: Servers = servers.map(([name, server]) => [
  name,
  (environment) => Layer.provide(server(environment), layer)
])

/** A name that no other test has. The certificate is of those below `client.example`. */
const newName = (addresses: ReadonlyArray<ReadonlyArray<string>>, below = "client.example"): string => {
  const name = `${unique("host")}.${below}`
  names.set(name, addresses)
  return name
}

const create = (http: Http, url: string, kinds = ["nothing"]) =>
  http.post<WebhookWithSecret>("webhooks", { url, kinds })

/** One try of a webhook at the host. */
const tryAt = async (http: Http, host: string) => {
  const { id } = await create(http, `https://${host}/hook`)
  const again = async () => {
    const { attempts, state } = await http.post<WebhookDelivery>(`webhooks/${id}/test`, undefined, 200)
    return [state, attempts[0]!.status ?? attempts[0]!.error]
  }
  return { again, first: await again() }
}

onServers(serversThere, "Addresses of webhooks", (test) => {
  test("are https and public, as far as the URL itself tells", async (main) => {
    const owner = await newWorkspace(main)
    const { id } = await create(owner, "https://client.example/hook")
    for (const url of [
      "http://client.example/hook",
      "https://localhost/",
      "https://api.localhost./",
      "https://127.0.0.1/",
      "https://2130706433/",
      "https://0x7f.1/",
      "https://10.0.0.1/",
      "https://169.254.169.254/",
      "https://[::1]/",
      "https://[::]/",
      "https://[::ffff:127.0.0.1]/",
      "https://[::127.0.0.1]/",
      "https://[64:ff9b::127.0.0.1]/",
      "https://[fd00::1]/",
      "https://[fe80::1]/"
    ]) {
      await owner.refuse("400 url", "POST", "webhooks", { url })
      await owner.refuse("400 url", "PATCH", `webhooks/${id}`, { url })
    }
    assert.strictEqual((await owner.get<Webhook>(`webhooks/${id}`)).url, "https://client.example/hook")
  })

  test("are connected to where they resolved to, once, and prove their name", async (main) => {
    const owner = await newWorkspace(main)
    const [host, other] = [newName([[publicAddress]]), newName([[publicAddress]], "other.example")]
    connections.length = 0
    assert.deepStrictEqual((await tryAt(owner, host)).first, ["delivered", 204])
    assert.deepStrictEqual(connections, [`${publicAddress}:443`])
    assert.lengthOf(
      lookups.filter((one) => one === host),
      1
    )
    assert.include(requests, `${host}/hook`)
    assert.deepStrictEqual((await tryAt(owner, other)).first, ["parked", "connection_failed"])
    assert.notInclude(requests, `${other}/hook`)
  })

  test("are not connected to where a name leads to a private address, or to one more", async (main) => {
    const owner = await newWorkspace(main)
    connections.length = 0
    for (const addresses of [
      ["127.0.0.1"],
      ["10.0.0.1"],
      ["::1"],
      ["::ffff:127.0.0.1"],
      ["64:ff9b::7f00:1"],
      [publicAddress, "192.168.0.1"]
    ]) {
      assert.deepStrictEqual((await tryAt(owner, newName([addresses]))).first, ["parked", "private_address"])
    }
    assert.deepStrictEqual((await tryAt(owner, newName([[]]))).first, ["parked", "unknown_host"])
    const { id } = await create(owner, `https://${newName([["::1"]])}/hook`, ["tag_created"])
    await owner.post("tags", { name: "tag", color: "#112233" })
    const [delivery] = await eventually(
      async () => (await owner.get<WebhookDeliveriesPage>(`webhooks/${id}/deliveries`)).deliveries,
      ({ length }) => length > 0
    )
    assert.strictEqual(delivery!.state, "pending")
    assert.deepInclude(delivery!.attempts[0]!, { status: null, error: "private_address" })
    assert.deepStrictEqual(connections, [])
  })

  test("are checked anew for each try, so that a name which leads elsewhere later leads nowhere", async (main) => {
    const owner = await newWorkspace(main)
    connections.length = 0
    const { again, first } = await tryAt(owner, newName([[publicAddress], ["127.0.0.1"]]))
    assert.deepStrictEqual(first, ["delivered", 204])
    assert.deepStrictEqual(await again(), ["parked", "private_address"])
    assert.lengthOf(connections, 1)
  })
})
