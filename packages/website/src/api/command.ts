import { serviceUrl } from "./client.ts"

/** The command that makes something in a workspace by the API, ready to paste. */
export const postCommand = (slug: string, path: string, body: string): string =>
  `curl -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  ${serviceUrl}/v1/workspaces/${slug}/${path} -d '${body}'`
