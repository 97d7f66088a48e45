require('./nowhere.js')
