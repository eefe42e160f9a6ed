import { FixtureTokenError, verifyFixtureToken } from "@delivery/client/fixtures"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"

/**
 * A small Fixture API, as a deployment has one beside the product: tests make customers under the scope of their run,
 * and the run's publisher deletes the scope when they are done.
 *
 *     POST   {url}/{scope}   {"customer": "Ana"}   201 {"id": "...", "customer": "Ana"}
 *     GET    {url}/{scope}                         200 {"customers": [...]}
 *     DELETE {url}/{scope}                         200 {"deleted": 1, "remaining": 0}
 *
 * Each call carries the fixture token of the run, which is for its own scope alone. With a password, who has it can count:
 *
 *     GET    /customers   Authorization: Bearer {password}   200 {"customers": 1}
 */
export interface FixtureApi {
  /** What a deployment names as its `fixtureUrl`. */
  readonly url: string
  /** How many customers there are, under any scope. */
  readonly count: () => number
  readonly close: () => Promise<void>
}

interface Scope {
  readonly customers: Map<string, { readonly id: string; readonly customer: string }>
  readonly expiresAt: Date
}

/**
 * `issuer` is the public address of the service whose runs may use it, `workspace` the id of their workspace, `password` the one
 * of the moment.
 */
export const startFixtureApi = async (
  issuer: string,
  workspace: string,
  password: () => string | undefined = () => undefined
): Promise<FixtureApi> => {
  const scopes = new Map<string, Scope>()
  const answer = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

  const count = () => [...scopes.values()].reduce((sum, { customers }) => sum + customers.size, 0)

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.url === "/customers") {
      const secret = password()
      const isAllowed = secret !== undefined && request.headers.authorization === `Bearer ${secret}`
      return isAllowed
        ? answer(response, 200, { customers: count() })
        : answer(response, 401, { message: "Wrong password." })
    }
    const token = await verifyFixtureToken(request.headers.authorization, { issuer, audience: url, workspace })
    if (request.url !== `/fixtures/${token.scope}`)
      return answer(response, 403, { message: "The token is for another scope." })
    // What a crashed run left behind goes when its token has ended.
    for (const [name, { expiresAt }] of scopes) if (expiresAt < new Date()) scopes.delete(name)

    const scope = scopes.get(token.scope) ?? { customers: new Map(), expiresAt: token.expiresAt }
    if (request.method === "GET") return answer(response, 200, { customers: [...scope.customers.values()] })
    if (request.method === "DELETE") {
      scopes.delete(token.scope)
      return answer(response, 200, { deleted: scope.customers.size, remaining: 0 })
    }
    const customer = ((await json(request)) as { readonly customer?: unknown } | null)?.customer
    if (typeof customer !== "string") return answer(response, 400, { message: "customer: Expected a string" })
    const made = { id: randomUUID(), customer }
    scopes.set(token.scope, { ...scope, customers: new Map(scope.customers).set(made.id, made) })
    return answer(response, 201, made)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      const status = error instanceof FixtureTokenError ? 401 : error instanceof SyntaxError ? 400 : 500
      answer(response, status, { message: error instanceof Error ? error.message : String(error) })
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fixtures`
  return {
    url,
    count,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
