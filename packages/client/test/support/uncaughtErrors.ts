import { createClient, createSemaphores, DeliveryClient, makeSemaphores } from "@delivery/client"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { inspect } from "node:util"

/**
 * Calls that fail in every way, at a server that answers as the slug of the workspace says. Each error is printed as Node
 * prints one that nobody catches. Nobody catches the last.
 */

const [kind = "", baseUrl = "", closedUrl = ""] = process.argv.slice(2)
const apiKey = process.env["DELIVERY_API_KEY"]!
const token = process.env["RUN_TOKEN"]!

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

const effects = (url: string) => {
  const client = Effect.runSync(Effect.provide(DeliveryClient.make({ baseUrl: url, apiKey }), FetchHttpClient.layer))
  const file = (slug: string) => ({ slug, run: 1, path: "a.txt" })
  return {
    get: (slug: string) => run(client.products.list({ params: { slug }, query: {} })),
    upload: (slug: string) => run(client.files.upload({ ...file(slug), body: "a" })),
    download: (slug: string) => run(Effect.flatMap(client.files.download(file(slug)), (file) => file.text)),
    lease: (slug: string) =>
      run(
        makeSemaphores({ url: `${url}/v1/workspaces/${slug}/semaphores`, token }).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.flatMap(({ withSemaphore }) => withSemaphore("a", { capacity: 1 }, () => Effect.void))
        )
      )
  }
}

const promises = (url: string): ReturnType<typeof effects> => {
  const client = createClient({ baseUrl: url, apiKey })
  const file = (slug: string) => ({ slug, run: 1, path: "a.txt" })
  return {
    get: (slug) => client.products.list({ params: { slug } }),
    upload: (slug) => client.files.upload({ ...file(slug), body: "a" }),
    download: async (slug) => (await client.files.download(file(slug))).text(),
    lease: (slug) =>
      createSemaphores({ url: `${url}/v1/workspaces/${slug}/semaphores`, token }).withSemaphore(
        "a",
        { capacity: 1 },
        async () => {}
      )
  }
}

const clientOf = kind === "effects" ? effects : promises
const { download, get, lease, upload } = clientOf(baseUrl)
const options = { customInspect: false, depth: 20 }
for (const [name, call] of Object.entries({ download, get, lease, upload })) {
  for (const answer of ["status", "decode", "cut"]) {
    try {
      await call(answer)
      process.stdout.write(`${name} ${answer}: succeeded\n`)
    } catch (error) {
      process.stderr.write(`${inspect(error, options)}\n`)
      process.stdout.write(`${name} ${answer}: failed\n`)
    }
  }
}
await clientOf(closedUrl).get("main")
