/**
 * In the place of the client's checks of its options and of what its calls are given: TypeScript has checked those of the website.
 */
export const checked = (): string => location.origin

export const requestProblem = (): undefined => undefined
