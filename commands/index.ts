import type {Command} from '@oclif/core'
import {experimentCommand} from '../src/cli/experiment-command.js'
import {experimentNames, loadExperiment} from '../src/lab/experiments.js'
import Ci from './ci.js'
import Clean from './clean.js'
import DiffReplicas from './diff-replicas.js'
import Doctor from './doctor.js'
import Down from './down.js'
import DumpLog from './dump-log.js'
import ExperimentList from './experiment/list.js'
import ExperimentShow from './experiment/show.js'
import Heal from './heal.js'
import ResultsList from './results/list.js'
import ResultsRejudge from './results/rejudge.js'
import ResultsShow from './results/show.js'
import Status from './status.js'
import Up from './up.js'

const experiments = await Promise.all(
  experimentNames().map(
    async name => [`experiment:${name}`, experimentCommand(name, await loadExperiment(name))] as const,
  ),
)

/** Every command of kx by its id; `:` stands for the space between its words. One per file of `experiments/` is made here. */
export default {
  ci: Ci,
  clean: Clean,
  'diff-replicas': DiffReplicas,
  doctor: Doctor,
  down: Down,
  'dump-log': DumpLog,
  heal: Heal,
  status: Status,
  up: Up,
  ...Object.fromEntries(experiments),
  'experiment:list': ExperimentList,
  'experiment:show': ExperimentShow,
  'results:list': ResultsList,
  'results:rejudge': ResultsRejudge,
  'results:show': ResultsShow,
} satisfies Record<string, Command.Class>
