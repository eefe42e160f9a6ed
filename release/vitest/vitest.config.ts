import DeliveryReporter from "@delivery/vitest"
import { defineConfig } from "vitest/config"

const git = { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add the basket" }
const delivery = new DeliveryReporter({
  workspace: "main",
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example.com",
  required: true,
  git
})

export default defineConfig({ test: { include: ["shop.test.ts"], reporters: ["default", delivery] } })
