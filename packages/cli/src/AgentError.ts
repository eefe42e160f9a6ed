import { Data } from "effect"

/** Why a command of the agent failed. The message is one line for people. */
export class AgentError extends Data.TaggedError("AgentError")<{ readonly message: string }> {}
