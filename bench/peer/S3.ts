import { startS3 } from "../../packages/server/test/support/S3Server.ts"

/** The S3 of the upload benchmark. */
const s3 = await startS3(Number(process.env["PORT"]))
process.once("SIGTERM", () => void s3.stop().then(() => process.exit(0)))
