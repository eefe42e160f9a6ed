import { assert, describe, it } from "@effect/vitest"
import { endpointOf } from "../../src/http/Endpoints.ts"
import { beforeRestOfPath } from "../../src/http/Routing.ts"

const files = "/v1/workspaces/main/test-runs/7/files/"

describe("the endpoint of a request", () => {
  it("is an upload for the endpoint that stores bodies, and for no other", () => {
    assert.isTrue(endpointOf("PUT", `${files}a/b.zip`).isStreamed)
    assert.isTrue(endpointOf("PUT", `${files}a;b#c?d`).isStreamed)
    assert.isFalse(endpointOf("GET", `${files}a/b.zip`).isStreamed)
    assert.isFalse(endpointOf("PUT", "/v1/workspaces/main/files/a").isStreamed)
    assert.isFalse(endpointOf("PUT", `/v1/me?${files}a`).isStreamed)
    assert.isFalse(endpointOf("PUT", `/v1/workspaces/main/test-runs?/7/files/a`).isStreamed)
    assert.isFalse(endpointOf("PUT", `/v1/workspaces/main/test-runs/%/files/a`).isStreamed)
  })

  it("is public if it needs no credential, whether or not it takes one", () => {
    const publicPaths = [
      "/v1/tokens/report",
      "/v1/invites/accept",
      "/auth/v1/links/consume",
      "/auth/v1/passkeys/sign-in/verify",
      "/agent/oauth/token",
      "/agent/oauth/register"
    ]
    for (const path of publicPaths) assert.isTrue(endpointOf("POST", path).isPublic, path)
    const others = [
      "/v1/api-keys",
      "/v1/workspaces/main/test-runs/7/finish",
      "/v1/workspaces/main/semaphores/one/leases",
      "/auth/v1/sudo",
      "/agent/v1/tickets",
      "/agent/mcp",
      "/v1/api-keys?/v1/tokens/report"
    ]
    for (const path of others) assert.isFalse(endpointOf("POST", path).isPublic, path)
  })

  it("is a probe by its method and path, whatever the query", () => {
    assert.isTrue(endpointOf("GET", "/health").isProbe)
    assert.isTrue(endpointOf("HEAD", "/ready?x").isProbe)
    assert.isFalse(endpointOf("POST", "/health").isProbe)
    assert.isFalse(endpointOf("GET", "/v1/me?/health").isProbe)
    assert.isTrue(endpointOf("GET", "/metrics?x").isMetrics)
    assert.isFalse(endpointOf("POST", "/metrics").isMetrics)
    for (const url of ["/metrics/", "//metrics", "/%6detrics"]) {
      assert.strictEqual(endpointOf("GET", url).name, "unmatched", url)
    }
  })
})

describe("what was found before", () => {
  it("is found again, however many other paths there are, and by its own method alone", () => {
    const product = (name: string) => `/v1/workspaces/main/products/${name}`
    for (const name of [...Array.from({ length: 2_500 }, (_, index) => `p${index}`), "p0", "p2499", "p".repeat(300)]) {
      assert.strictEqual(endpointOf("GET", `${product(name)}?q=${name}`).name, "products.get")
      assert.strictEqual(endpointOf("PATCH", product(name)).name, "products.update")
      assert.strictEqual(endpointOf("PUT", product(name)).name, "unmatched")
    }
  })
})

describe("the path of a file", () => {
  it("begins after the folder of files", () => {
    assert.strictEqual(beforeRestOfPath(`${files}a/b.zip?x=1`), files)
    assert.strictEqual(beforeRestOfPath(files), files)
    assert.isUndefined(beforeRestOfPath("/v1/workspaces/main/test-runs/7"))
  })
})
