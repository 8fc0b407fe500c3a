export {nearest} from '../util/nearest.js'
