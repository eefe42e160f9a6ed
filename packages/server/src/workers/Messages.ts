import type { ProcessSnapshot, Snapshot } from "../telemetry/Siblings.ts"

/** Messages of a worker to its supervisor. */
export type ToSupervisor =
  /** The worker answers requests. */
  | { readonly kind: "ready" }
  /** Asks for the metrics of all processes, to answer a scrape. */
  | { readonly kind: "scrape"; readonly id: number }
  /** The metrics of this worker, for the scrape that asked with `collect`. */
  | { readonly kind: "snapshot"; readonly id: number; readonly snapshot: Snapshot }

/** Messages of a supervisor to a worker. */
export type ToWorker =
  /** Asks for the metrics of this worker. */
  | { readonly kind: "collect"; readonly id: number }
  /** The metrics of all processes, for the `scrape` of this id. */
  | { readonly kind: "processes"; readonly id: number; readonly processes: ReadonlyArray<ProcessSnapshot> }

/** Environment variables of a worker: its number, and whether it prints the start message. */
export const workerVariable = "DELIVERY_WORKER"
export const printsStartVariable = "DELIVERY_WORKER_PRINTS_START"
