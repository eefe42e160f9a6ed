import type { ProcessSnapshot, Snapshot } from "../telemetry/Siblings.ts"

/** What a worker says to its supervisor. */
export type ToSupervisor =
  /** It answers requests. */
  | { readonly kind: "ready" }
  /** What do all processes tell a scrape? */
  | { readonly kind: "ask"; readonly id: number }
  /** What this process tells the scrape. */
  | { readonly kind: "told"; readonly id: number; readonly snapshot: Snapshot }

/** What a supervisor says to a worker. */
export type ToWorker =
  /** What do you tell the scrape? */
  | { readonly kind: "tell"; readonly id: number }
  /** What all processes told. */
  | { readonly kind: "answer"; readonly id: number; readonly processes: ReadonlyArray<ProcessSnapshot> }

/** Variables by which a supervisor tells a process that it is a worker: which one, and whether it greets people. */
export const workerVariable = "DELIVERY_WORKER"
export const greetsVariable = "DELIVERY_WORKER_GREETS"
