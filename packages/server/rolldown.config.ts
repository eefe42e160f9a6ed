import { defineConfig } from "rolldown"

/** What has files of its own, or is loaded only where a setting asks for it. */
const external = /^(?:@aws-sdk|@electric-sql|@simplewebauthn|nodemailer|openid-client)(?:\/|$)/

/**
 * The command in few files: loading it takes a quarter of what its sources take, which are more than a thousand modules. They lie
 * in a directory of `dist`, as deep as the sources of a room, so that paths beside a module lead to the same.
 */
export default defineConfig({
  input: { main: "src/cli/main.ts", EmbeddedDatabaseWorker: "src/database/EmbeddedDatabaseWorker.ts" },
  platform: "node",
  external: (id) => external.test(id),
  // The package says that importing it does nothing, which does not hold for its command.
  treeshake: { moduleSideEffects: (id) => !id.includes("/node_modules/effect/") || id.endsWith("/enable.js") },
  output: { dir: "dist/command", format: "esm" }
})
