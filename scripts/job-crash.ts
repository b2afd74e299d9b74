import { crashJobs } from '../test/faults/job-crash.ts'

/** `bun scripts/job-crash.ts [jobs] [kills]`: kills the service with -9 repeatedly while asynchronous runs execute. */
const [jobs = 1_000, kills = 10] = process.argv.slice(2).map(Number)
const report = await crashJobs({
  jobs,
  kills,
  random: Math.random,
  progress: (kill, ended) => console.error(`kill ${kill}: ${ended} runs have ended so far`),
})
const { wentBack, ...rest } = report
console.log(JSON.stringify({ ...rest, wentBack: wentBack.length }))
const allCompleted = report.statuses['completed'] === report.jobs
process.exit(allCompleted && wentBack.length === 0 && report.otherKeys === 0 ? 0 : 1)
