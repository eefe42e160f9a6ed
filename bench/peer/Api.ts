import { deployments } from "./Deployments.ts"
import { projects } from "./Projects.ts"
import { runs } from "./Runs.ts"
import { runWrites } from "./RunWrites.ts"
import { secrets } from "./Secrets.ts"
import { semaphores } from "./Semaphores.ts"
import { app } from "./Server.ts"

/**
 * The endpoints of `bench/api.ts` as a good engineer would write them with Fastify: prepared statements, schemas for
 * requests and responses, the same checks and rows. Paths name workspaces, products and environments by slug only.
 *
 * `DATABASE_URL`, `DATABASE_POOL`, `VAULT_KEYS`, `PORT` as for the service; `DRIVER` is `pg` or `postgres.js`.
 */
for (const endpoints of [deployments, runs, runWrites, projects, semaphores, secrets]) await app.register(endpoints)

await app.listen({ port: Number(process.env["PORT"]), host: "127.0.0.1" })
process.on("SIGTERM", () => {
  void app.close().then(() => process.exit(0))
})
