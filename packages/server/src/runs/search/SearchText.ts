import type { Git } from "@delivery/domain/runs/TestRun"

/** How `q` compares texts, the same in every storage. The column `test_runs.search` is stored so. */

const separator = "\n"

/** In lower case, wherever a letter stands: a sigma at the end of a word has a lower case of its own. */
const fold = (text: string): string => text.toLowerCase().replaceAll("ς", "σ").replaceAll(separator, " ")

/** The text of a run in which `q` is looked for. */
export const searchText = (git: Pick<Git, "branch" | "subject">): string =>
  fold(git.branch) + separator + fold(git.subject)

/** `q` as a part of `searchText`. */
export const searchPart = (q: string): string => fold(q)
