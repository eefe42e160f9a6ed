/**
 * Playwright ends its tests and reporters on SIGINT alone, and is killed by SIGTERM, which some CI systems cancel a job with. Makes
 * one of the other, until the answer is called.
 */
export const onTermination = (): (() => void) => {
  const interrupt = () => void process.kill(process.pid, "SIGINT")
  process.on("SIGTERM", interrupt)
  return () => void process.off("SIGTERM", interrupt)
}
