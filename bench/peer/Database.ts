import { Pool } from "pg"
import postgres from "postgres"

/** A statement that a connection prepares once, by its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export interface Database {
  readonly query: <Row>(statement: Statement, values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  readonly end: () => Promise<void>
}

export type Driver = "pg" | "postgres.js"

/** The two usual clients, with prepared statements and a pool of the same size. */
export const connect = (driver: Driver, url: string, connections: number): Database => {
  if (driver === "pg") {
    const pool = new Pool({ connectionString: url, max: connections, idleTimeoutMillis: 0 })
    return {
      query: async <Row>({ name, text }: Statement, values: ReadonlyArray<unknown>) =>
        (await pool.query({ name, text, values: values as Array<unknown> })).rows as ReadonlyArray<Row>,
      end: () => pool.end()
    }
  }
  const sql = postgres(url, { max: connections, prepare: true })
  return {
    query: <Row>({ text }: Statement, values: ReadonlyArray<unknown>) =>
      sql.unsafe(text, values as Array<never>, { prepare: true }) as unknown as Promise<ReadonlyArray<Row>>,
    end: () => sql.end()
  }
}
