import type { Worker } from "node:cluster"
import type { ChildProcess } from "node:child_process"

/** What Node's cluster says between the processes, as far as it concerns connections. */
interface ClusterMessage {
  readonly cmd: "NODE_CLUSTER"
  /** Of a message to a worker that hands it a connection. */
  readonly act?: string
  readonly seq?: number
  /** Of the worker's answer: the `seq` of that message. */
  readonly ack?: number
}

/**
 * Passes on the connection that a worker was handed and had not taken when it ended. Node's cluster keeps it open and
 * forgets it, so its client would wait for ever. A worker answers before it reads anything of a connection, so what it
 * has not answered may go to another: that is what a refusal of the worker would have done.
 */
export const passOnUntakenConnections = (worker: Worker): void => {
  const child = worker.process
  const untaken = new Set<number>()
  const send = child.send.bind(child) as (...parameters: ReadonlyArray<unknown>) => boolean
  child.send = ((message: ClusterMessage, ...others: ReadonlyArray<unknown>) => {
    if (message.act === "newconn" && message.seq !== undefined) untaken.add(message.seq)
    return send(message, ...others)
  }) as ChildProcess["send"]
  child.on("internalMessage", ({ ack }: ClusterMessage) => {
    if (ack !== undefined) untaken.delete(ack)
  })
  let isDisconnected = false
  child.once("disconnect", () => {
    isDisconnected = true
  })
  // Comes after all that the worker has said.
  child.once("close", () => {
    // Node does not tell of it where a connection was on its way; the cluster would go on to count with the worker.
    if (!isDisconnected) child.emit("disconnect")
    for (const ack of untaken) child.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted: false })
  })
}
