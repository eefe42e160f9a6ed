import { Data } from "effect"

/** What keeps an agent's command from its work. The message is one line for people. */
export class AgentError extends Data.TaggedError("AgentError")<{ readonly message: string }> {}
