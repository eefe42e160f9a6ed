import { createClient, type WebClient } from "@delivery/client/web"

/** The API, as the person whose session the cookie of this origin is. Every action of the website goes through it. */
export const client: WebClient = createClient()

/** The address of this service, for commands to paste. */
export const serviceUrl = location.origin

/** The address of a file of a run, which the browser opens or shows by itself. */
export const fileUrl = (slug: string, run: number, path: string): string =>
  `/v1/workspaces/${encodeURIComponent(slug)}/test-runs/${run}/files/${path.split("/").map(encodeURIComponent).join("/")}`
