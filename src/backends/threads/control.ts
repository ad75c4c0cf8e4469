/** What threads share beside a program: words in the first page of the memory, which no program uses. */
import { layout } from '../record.js'

/**
 * `next` and `epoch` are one number of 64 bits, so that one exchange takes a part of the job that it was read for, or none: the next part of the job that is open, and the number of that job.
 * `done`: parts that are done. `sleepers`: threads that sleep until there is another epoch. `version`: messages to threads so far; one that has seen fewer takes no part. `failed`: threads that
 * ended within a part. `job`: the record of the open job. `alone`: microseconds of jobs that the caller runs alone before it asks others again, and `penalty`: how many it will be after another long wait.
 * `busy`: a job is open. `helped`: parts that were done by others than the caller. `turn` and `delay` are for tests: parts in another order, and pauses before them.
 */
export const control = /*#__PURE__*/ layout('next epoch done sleepers version failed job alone penalty busy helped turn delay')
/** Its address, and that of one of its words. */
export const CONTROL = 1024
export const addressOf = (word: keyof typeof control.at): number => CONTROL + 4 * control.at[word]

/** Each thread has its own copy of the record of the part that it runs. */
export const RECORDS = 4096
/** Bytes of the longest record that is shared. */
export const RECORD = 2048
/** As many threads as there is room for records in the page. */
export const MOST = (65536 - RECORDS) / RECORD
