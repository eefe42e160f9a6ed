import { Context, type Effect, type Metric } from "effect"

export type Snapshot = ReadonlyArray<Metric.Metric.Snapshot>

/** The metrics of one process of a server, and labels that distinguish it from the others. */
export interface ProcessSnapshot {
  readonly labels: Metric.Metric.AttributeSet
  readonly snapshot: Snapshot
}

/** The processes that serve behind one port, as one of them sees them. */
export interface Siblings {
  /** Answers the others when they ask for the metrics of this process, until the scope closes. */
  readonly answer: (own: Effect.Effect<Snapshot>) => Effect.Effect<void>
  /** The metrics of all processes, this one too. */
  readonly ask: Effect.Effect<ReadonlyArray<ProcessSnapshot>>
}

/** Absent where the process serves alone. */
export const Siblings = Context.Reference<Siblings | undefined>("@delivery/server/telemetry/Siblings", {
  defaultValue: () => undefined
})
