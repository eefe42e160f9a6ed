import type { RecordedTest } from "@delivery/domain/runs/TestResults"
import { charactersOf } from "../storage/Parts.ts"

/** How many characters a test has in its texts. */
export const charactersOfTest = ({ attempts: [attempt], files, ...test }: RecordedTest): number =>
  charactersOf([test.caseId, test.title, test.file, attempt?.errorMessage, attempt?.errorStack]) +
  charactersOf(files) +
  charactersOf(attempt?.files ?? [])
