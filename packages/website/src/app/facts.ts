import type { WebClient } from "@delivery/client/web"

/** What the API answers of things that have no screen yet, by the addresses that it gives them. */

interface Reader {
  readonly noun: string
  readonly name: string
  /** Where the API has it. */
  readonly path: string
  readonly read: () => Promise<unknown>
}

type Read = (client: WebClient, slug: string, id: string) => Promise<unknown>

const kinds: Readonly<Record<string, readonly [noun: string, read: Read]>> = {
  products: ["product", (client, slug, product) => client.products.get({ params: { slug, product } })],
  environments: [
    "environment",
    (client, slug, environment) => client.environments.get({ params: { slug, environment } })
  ],
  messages: ["message", (client, slug, message) => client.messages.get({ params: { slug, message } })],
  agents: [
    "agent",
    async (client, slug, id) =>
      (await client.agents.list({ params: { slug }, query: {} })).agents.find((one) => one.id === id) ?? null
  ]
}

/** Undefined for an address that names nothing. */
export const readerOf = (client: WebClient, slug: string, splat: string): Reader | undefined => {
  const [kind = "", id = "", ...rest] = splat.split("/")
  const found = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (found === undefined || id === "" || rest.length > 0) {
    return undefined
  }
  const [noun, read] = found
  const one = kind === "agents" ? "" : `/${encodeURIComponent(id)}`
  return { noun, name: id, path: `/v1/workspaces/${slug}/${kind}${one}`, read: () => read(client, slug, id) }
}

const textOf = (value: unknown): string | undefined => {
  if (value === null) return "none"
  if (typeof value === "string") return value.slice(0, 2_000)
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value))
    return value.length === 0
      ? "none"
      : value
          .map((one) => textOf(one) ?? "…")
          .join(", ")
          .slice(0, 2_000)
  if (typeof value === "object") {
    const { identifier, name, title } = value as Readonly<Record<string, unknown>>
    return textOf(name ?? title ?? identifier ?? undefined)
  }
  return undefined
}

/** The names and values of an answer, as far as a line can say them. */
export const factsOf = (answer: unknown): ReadonlyArray<readonly [name: string, value: string]> => {
  if (typeof answer !== "object" || answer === null) return [["Found", "nothing"]]
  return Object.entries(answer).flatMap(([name, value]) => {
    const text = textOf(value)
    return text === undefined ? [] : [[name, text] as const]
  })
}
