/**
 * The Fixture API as a product of its own, which is deployed with secrets: `DELIVERY_ISSUER`, `WORKSPACE_ID`, and
 * `ADMIN_PASSWORD`, with which its customers are counted. It has them in its environment, or loads them by itself:
 *
 *     delivery secrets run -- node product.ts
 *     DELIVERY_TOKEN=dtk_... node product.ts --load
 */
import { loadSecrets } from "@delivery/client/deploy"
import { startFixtureApi } from "./FixtureApi.ts"

const loaded = process.argv.includes("--load") ? await loadSecrets({ refreshSeconds: 1 }) : undefined
const secret = (name: string): string => {
  const value = loaded === undefined ? process.env[name] : loaded.get(name)
  if (value === undefined) throw new Error(`${name} is not set.`)
  return value
}

secret("ADMIN_PASSWORD")
const { url } = await startFixtureApi(secret("DELIVERY_ISSUER"), secret("WORKSPACE_ID"), () => secret("ADMIN_PASSWORD"))
process.stdout.write(`The Fixture API answers at ${url}\n`)
