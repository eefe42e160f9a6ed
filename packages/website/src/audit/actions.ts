import { adminOperations, auditActions } from "@delivery/domain/audit/AuditActions"
import { actionWords } from "./words.ts"

/** All that can happen, for the filter of the audit. Loaded after the entries. */
export const actions = [...auditActions, ...adminOperations].map((value) => ({
  value,
  label: value.includes(".") ? `${actionWords(value)}, refused` : actionWords(value)
}))
