/** The entry `codual/mpi`: one program on several processes, through MPI. */

export { type CheckRanksOptions, checkRanks, type RanksChecked, type RanksFinding } from './check.js'
export type { ThreadLevel } from './communicator.js'
export type { AllReduceOptions, AlongOptions, BroadcastOptions, SendRecvOptions } from './operations.js'
export { allGather, allReduce, allToAll, broadcast, collectives, reduceScatter, sendRecv } from './operations.js'
export { type Ranks, ranks } from './ranks.js'
export { type Link, links } from './scale/link.js'
export { type MeasuredLink, type MeasureLinkOptions, measureLink } from './scale/measure-link.js'
export { type Rates, type Scale, type ScaledCollective, type ScaleOptions, type ScaleRow, scaleOf } from './scale/scale.js'
export { localRows, type ShardOptions, shard } from './shard.js'
export { simulateRanks } from './simulate.js'
export { simulateRanksAsync } from './simulate-async.js'
export { type World, world } from './world.js'
