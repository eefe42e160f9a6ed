import { expect, it } from "vitest"
import { namedAt } from "../../src/app/namedAt.ts"

it("an address names what it shows", () => {
  const names = {
    "/w/main/tickets/SHOP-12": "SHOP-12",
    "/w/main/test-runs/49": "49",
    "/w/main/test-runs/49/tests/checkout.spec.ts%20%E2%80%BA%20pays": "checkout.spec.ts › pays",
    "/w/main/products/shop/cases/checkout%2Fpays": "checkout/pays",
    "/w/main/products/shop/secrets/DATABASE_URL": "DATABASE_URL",
    "/w/main/products/shop": "shop",
    "/w/main/deployments/shop/staging": "shop/staging",
    "/w/main/environments/staging": "staging",
    "/w/main/teams/ENG": "ENG",
    "/w/main/test-runs": undefined,
    "/w/main": undefined,
    "/w/main/products/shop/delivery": undefined
  }
  for (const [path, name] of Object.entries(names)) expect([path, namedAt(path)]).toEqual([path, name])
})
