import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { makeDatabase } from "../build/database.ts"
import { type PostgresServer, startPostgres } from "./support/PostgresServer.ts"

/** One real PostgreSQL for all suites: `TEST_DATABASE_URL`, or one that is started here. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"]
  const server: PostgresServer | undefined = given === undefined || given === "" ? await startPostgres() : undefined
  // Servers that suites start load the built command, as all do but the first after a change.
  execFileSync(process.execPath, [join(import.meta.dirname, "../build/command.ts")])
  // Of this run alone, for the next may have other migrations.
  const template = `template_${randomBytes(6).toString("hex")}`
  project.provide("postgresUrl", server?.url ?? given!)
  project.provide("templateDatabase", template)
  project.provide("embeddedDatabase", await makeDatabase())
  return async () => {
    if (server === undefined) await dropDatabase(given!, template)
    else await server.stop()
  }
}

const dropDatabase = async (url: string, name: string): Promise<void> => {
  const { PgClient } = await import("@effect/sql-pg")
  const { Effect, Redacted } = await import("effect")
  const drop = Effect.flatMap(PgClient.PgClient, (sql) => sql`drop database if exists ${sql(name)}`)
  await Effect.runPromise(Effect.provide(drop, PgClient.layer({ url: Redacted.make(url) })))
}
