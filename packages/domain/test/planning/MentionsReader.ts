import { mentionsIn } from "@delivery/domain/planning/Mentions"
import { parentPort, workerData } from "node:worker_threads"

/** A thread that reads texts: a test can end it, whatever the reading takes. */

parentPort!.postMessage((workerData as ReadonlyArray<string>).map(mentionsIn))
