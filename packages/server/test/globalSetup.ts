import type { TestProject } from "vitest/node"
import { type PostgresServer, startPostgres } from "./support/PostgresServer.ts"

/** One real PostgreSQL for all suites: `TEST_DATABASE_URL`, or one that is started here. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"]
  const server: PostgresServer | undefined = given === undefined || given === "" ? await startPostgres() : undefined
  project.provide("postgresUrl", server?.url ?? given!)
  return async () => server?.stop()
}
