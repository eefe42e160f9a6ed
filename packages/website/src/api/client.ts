import { createClient, type WebClient } from "@delivery/client/web"

let person: string | undefined

/** From now on, calls are refused as without a session once another person has signed in with this browser. */
export const callAs = (id: string): void => {
  person = id
}

/** The headers that say for whom a call is, for what is no call of the client. */
export const headersOfPerson = (): Readonly<Record<string, string>> =>
  person === undefined ? {} : { "delivery-person": person }

/** Without a network the failure says so, and that the call was not made. */
const send: typeof fetch = async (input, init) => {
  const wasOnline = navigator.onLine
  try {
    const headers = new Headers(init?.headers)
    if (person !== undefined) headers.set("delivery-person", person)
    return await fetch(input, { ...init, headers })
  } catch (error) {
    if (wasOnline || init?.signal?.aborted === true) throw error
    return Response.json({ _tag: "Offline", message: "You are offline. Nothing was changed." }, { status: 503 })
  }
}

/** The API, as the person whose session the cookie of this origin is. Every action of the website goes through it. */
export const client: WebClient = createClient({ fetch: send })

/**
 * Takes the calls that are known by now: those that are not needed from the start come later (`build/calledRoutes.ts`, which writes
 * the calls of this).
 *
 * @public
 */
export const takeCalls = (): void => {
  const { safe, ...calls } = createClient({ fetch: send })
  Object.assign(client, calls)
  Object.assign(client.safe, safe)
}

/** The address of this service, for commands to paste. */
export const serviceUrl = location.origin

/** The address of a file of a run, which the browser opens or shows by itself. */
export const fileUrl = (slug: string, run: number, path: string): string =>
  `/v1/workspaces/${encodeURIComponent(slug)}/test-runs/${run}/files/${path.split("/").map(encodeURIComponent).join("/")}`
