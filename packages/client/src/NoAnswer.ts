/** Why nothing answered. Node's fetch says so in the cause of its error, browsers by no means at all. */

/** The codes whose messages have no words. Few, since pages load them. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "host not found",
  ETIMEDOUT: "timed out"
}

/** Why there was no answer, from what fetch has thrown: `connection refused (connect ECONNREFUSED 127.0.0.1:9)`. */
export const noAnswerReason = (thrown: unknown): string => {
  const { cause, code = "", message } = thrown as { cause?: unknown; code?: string; message?: string }
  if (cause) return noAnswerReason(cause)
  const said = message || code
  return words[code] ? `${words[code]} (${said})` : said
}
