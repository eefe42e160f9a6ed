import type { Cleanup } from "../src/index.ts"

/** Deletes everything that the tests made under the scope of the run. */
const cleanup: Cleanup = async ({ scope, token, url }) => {
  const answer = await fetch(`${url}/${scope}`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } })
  if (!answer.ok)
    return { status: "failed", deleted: 0, remaining: 0, error: `The Fixture API answered ${answer.status}.` }
  const { deleted, remaining } = (await answer.json()) as { readonly deleted: number; readonly remaining: number }
  return { status: remaining === 0 ? "complete" : "incomplete", deleted, remaining, error: null }
}

export default cleanup
