/** The file that the name of a test begins with, as that of most does: the title is what one looks for. Pure. */
export const fileOf = (caseId: string): string => /^[^:]*[./][^:]*(?=:[^:])/.exec(caseId)?.[0] ?? ""

/** What follows it. */
export const titleOf = (caseId: string): string => caseId.slice(fileOf(caseId).length).replace(/^:/, "")
