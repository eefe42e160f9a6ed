import type { Case } from "@delivery/domain/runs/Case"
import { foldCase } from "@delivery/domain/FoldCase"
import type { Git } from "@delivery/domain/runs/TestRun"

/** How `q` compares texts, the same in every storage. The columns `test_runs.search` and `test_cases.search` are stored so. */

const separator = "\n"

const fold = (text: string): string => foldCase(text).replaceAll(separator, " ")

/** The text of a run in which `q` is looked for. */
export const searchText = (git: Pick<Git, "branch" | "subject">): string =>
  fold(git.branch) + separator + fold(git.subject)

/** The text of a case in which `q` is looked for. */
export const caseText = ({ caseId, file, title }: Pick<Case, "caseId" | "file" | "title">): string =>
  fold(title) + separator + fold(file) + separator + fold(caseId)

/** `q` as a part of such a text. */
export const searchPart = (q: string): string => fold(q)
