export * from "./Api.ts"
