import type { Root } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { gfmFromMarkdown } from "mdast-util-gfm"
import { gfm } from "micromark-extension-gfm"

/** Markdown of others as a tree. Pure. */

/** Beyond these, reading takes time with the square of what stands there, or stacks overflow. No text for people has so many. */
const mostMarks = 600
const mostDepth = 20

const prefix = /^(?:\s|>|[-*+](?=\s)|\d{1,9}[.)](?=\s))*/

const depthOf = (line: string): number => (prefix.exec(line)![0].match(/>|[-*+]|\d+[.)]/g) ?? []).length

const marksOf = (paragraph: string): number => (paragraph.match(/[*_~[\]<`|]/g) ?? []).length

/** Fenced code, whose marks mean nothing. */
const fence = /^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:^ {0,3}\1[`~]*[ \t]*$|$(?![^]))/gm

/** Whether it is read in no time. Rows of tables are read one by one. */
const isReadable = (text: string): boolean =>
  text
    .replaceAll(fence, "")
    .split(/\n[ \t]*\n/)
    .every(
      (paragraph) =>
        paragraph.split("\n").every((line) => depthOf(line) <= mostDepth && marksOf(line) <= mostMarks) &&
        (marksOf(paragraph) <= mostMarks || paragraph.trimStart().startsWith("|"))
    )

/** Undefined for a text that is no Markdown of a person: it is shown as it is. */
export const treeOf = (text: string): Root | undefined =>
  isReadable(text) ? fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) : undefined
