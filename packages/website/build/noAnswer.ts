/** In the place of `@delivery/domain/NoAnswer`: browsers give errors of fetch no code, so pages need no words for those of Node. */
export const noAnswerReason = (thrown: unknown): string => (thrown as Error).message
