import type { AttemptReport, Coverage, TestReport } from "@delivery/client"
import { firstCharacters } from "@delivery/domain/Text"
import { stripVTControlCharacters } from "node:util"
import { fitId } from "./CaseIds.ts"
import { coverages } from "./Settings.ts"

/** Turns what a test runner knows about a test into the terms of the service, for every runner alike. */

/** The text without colours, cut to `length` characters. */
const plain = (text: string, length: number): string =>
  firstCharacters(stripVTControlCharacters(text), length).toWellFormed()

/** The message of an error. */
export const messageText = (text: string): string => plain(text, 20_000)

/** The stack of an error, with what stands beside it. */
export const stackText = (...texts: ReadonlyArray<string | undefined>): string =>
  plain(texts.filter((text) => text !== undefined && text !== "").join("\n\n"), 40_000)

/** Texts that are not empty as one; null where there is none. */
export const joined = (texts: ReadonlyArray<string>): string | null =>
  texts.filter((text) => text !== "").join("\n\n") || null

/** What a test says of itself while it runs. */
export interface Annotation {
  readonly type: string
  readonly description?: string | undefined
}

/** A test as its runner knows it. */
export interface KnownTest {
  /** The path of its file from the root, with slashes. */
  readonly file: string
  /** The titles of the groups around it and its own. */
  readonly titles: ReadonlyArray<string>
  readonly annotations: ReadonlyArray<Annotation>
  /** With or without `@`. */
  readonly tags: ReadonlyArray<string>
  /** The project that runs it, where there are several. */
  readonly project: string
  /** From 0. */
  readonly repetition: number
  readonly files: ReadonlyArray<string>
  readonly attempt: AttemptReport | null
}

/** The description of the last annotation of a type, so that annotations that a test adds while it runs win. */
const annotation = (annotations: ReadonlyArray<Annotation>, type: string): string | undefined =>
  annotations.findLast((one) => one.type === type && (one.description ?? "").trim() !== "")?.description?.trim()

const caseTag = /^@case:(\S+)$/

/**
 * The id of a test, the same in every run: its own (annotation `caseId`, tag `@case:ID`), or its file and titles. The project
 * and the repetition are added, because each of them runs the test.
 */
const caseIdOf = ({ annotations, file, project, repetition, tags, titles }: KnownTest): string => {
  const tag = tags.map((tag) => caseTag.exec(tag)?.[1]).find((id) => id !== undefined)
  const id = annotation(annotations, "caseId") ?? tag ?? [file, ...titles].join(" › ")
  const ofProject = project === "" ? "" : ` [${project}]`
  const ofRepetition = repetition > 0 ? ` #${repetition + 1}` : ""
  return fitId(id, 500 - ofProject.length - ofRepetition.length) + ofProject + ofRepetition
}

const coverageOf = ({ annotations, tags }: KnownTest): Coverage => {
  const annotated = annotation(annotations, "coverage")
  return (
    coverages.find((one) => one === annotated) ??
    coverages.find((one) => tags.includes(`@${one}`) || tags.includes(one)) ??
    "regression"
  )
}

/** The titles of a test as one. */
export const titleOf = (titles: ReadonlyArray<string>): string => titles.filter((title) => title !== "").join(" › ")

/** A test of a run; `unique` makes its id one of a kind there. */
export const testReport = (test: KnownTest, unique: (id: string) => string): TestReport => {
  const priority = annotation(test.annotations, "priority")
  return {
    caseId: unique(caseIdOf(test)),
    title: firstCharacters(titleOf(test.titles), 4_000),
    file: firstCharacters(test.file, 4_000),
    coverage: coverageOf(test),
    testKind: firstCharacters(annotation(test.annotations, "testKind") ?? "behavior", 40),
    priority: priority === undefined ? null : firstCharacters(priority, 100),
    files: test.files,
    attempt: test.attempt
  }
}
