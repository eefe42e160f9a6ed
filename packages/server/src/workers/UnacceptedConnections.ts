import type { Worker } from "node:cluster"
import type { ChildProcess } from "node:child_process"

/** Messages of Node's cluster between the processes, as far as they concern connections. */
interface ClusterMessage {
  readonly cmd: "NODE_CLUSTER"
  /** Of a message to a worker that hands it a connection. */
  readonly act?: string
  readonly seq?: number
  /** Of the worker's answer: the `seq` of that message. */
  readonly ack?: number
}

/**
 * Hands the connections that a worker was given and had not accepted when it ended to other workers. Node's cluster
 * keeps them open and forgets them, so their clients would wait for ever. A worker acknowledges a connection before it
 * reads from it, so an unacknowledged connection can go to another worker, as if this one had refused it.
 */
export const passOnUnacceptedConnections = (worker: Worker): void => {
  const child = worker.process
  const unaccepted = new Set<number>()
  const send = child.send.bind(child) as (...parameters: ReadonlyArray<unknown>) => boolean
  child.send = ((message: ClusterMessage, ...others: ReadonlyArray<unknown>) => {
    if (message.act === "newconn" && message.seq !== undefined) unaccepted.add(message.seq)
    return send(message, ...others)
  }) as ChildProcess["send"]
  child.on("internalMessage", ({ ack }: ClusterMessage) => {
    if (ack !== undefined) unaccepted.delete(ack)
  })
  let isDisconnected = false
  child.once("disconnect", () => {
    isDisconnected = true
  })
  // Comes after all messages of the worker.
  child.once("close", () => {
    // Node does not emit it while a connection is being handed over; the cluster would go on using the worker.
    if (!isDisconnected) child.emit("disconnect")
    for (const ack of unaccepted) child.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted: false })
  })
}
