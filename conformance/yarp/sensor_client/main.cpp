// Opens YARP's own multipleanalogsensorsclient on a server and reads each sensor: a line
// "sensor GROUP NAME FRAME STATUS TIME NUMBER..." for each. Arguments: prefix of the server (/icubSim/left_leg/FT),
// name of the client.
// The headers of YARP 3.5 need these first.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <cstdio>
#include <string>

#include <yarp/dev/MultipleAnalogSensorsInterfaces.h>
#include <yarp/dev/PolyDriver.h>
#include <yarp/os/Network.h>
#include <yarp/os/Property.h>
#include <yarp/os/Time.h>
#include <yarp/sig/Vector.h>

#include "../stock_plugins.h"

using namespace yarp::dev;
using namespace yarp::os;

static int sensors = 0, failed = 0;

// Reads the sensors of a group, `Kind` in YARP's interfaces; the first message is waited for.
#define READ(Group, Kind, interface)                                                             \
    for (size_t i = 0; i < interface->getNrOf##Kind##s(); ++i) {                                 \
        std::string name, frame;                                                                 \
        yarp::sig::Vector numbers;                                                               \
        double stamp = 0.0;                                                                      \
        bool good = interface->get##Kind##Name(i, name) && interface->get##Kind##FrameName(i, frame); \
        good = interface->get##Kind##Measure(i, numbers, stamp) && good;                         \
        int status = interface->get##Kind##Status(i);                                            \
        report(Group, name, frame, good, status, stamp, numbers);                                \
    }

// Reads the arrays of a group, which have no frame.
#define READ_ARRAYS(Group, Kind, Kinds, interface)                                               \
    for (size_t i = 0; i < interface->getNrOf##Kinds(); ++i) {                                   \
        std::string name;                                                                        \
        yarp::sig::Vector numbers;                                                               \
        double stamp = 0.0;                                                                      \
        bool good = interface->get##Kind##Name(i, name);                                         \
        good = interface->get##Kind##Measure(i, numbers, stamp) && good;                         \
        good = good && interface->get##Kind##Size(i) == numbers.size();                          \
        report(Group, name, "-", good, interface->get##Kind##Status(i), stamp, numbers);         \
    }

static void report(const char* group, const std::string& name, const std::string& frame, bool good, int status,
                   double stamp, const yarp::sig::Vector& numbers)
{
    ++sensors;
    failed += !good || status != 0;
    std::printf("sensor %s %s %s %d %.9g", group, name.c_str(), frame.c_str(), good ? status : -1, stamp);
    for (size_t k = 0; k < numbers.size(); ++k) std::printf(" %.9g", numbers[k]);
    std::printf("\n");
}

int main(int argc, char** argv)
{
    register_plugins();
    Network network;
    if (argc < 3 || !network.checkNetwork(5.0)) { std::printf("no name server\n"); return 2; }
    Property options;
    options.put("device", "multipleanalogsensorsclient");
    options.put("remote", argv[1]);
    options.put("local", argv[2]);
    options.put("timeout", 5.0);
    PolyDriver driver;
    if (!driver.open(options)) { std::printf("multipleanalogsensorsclient does not open\n"); return 2; }

    IThreeAxisGyroscopes* gyroscopes;
    IThreeAxisLinearAccelerometers* accelerometers;
    IThreeAxisMagnetometers* magnetometers;
    IOrientationSensors* orientations;
    ITemperatureSensors* temperatures;
    ISixAxisForceTorqueSensors* wrenches;
    IPositionSensors* positions;
    IEncoderArrays* encoders;
    ISkinPatches* patches;
    IContactLoadCellArrays* cells;
    if (!driver.view(gyroscopes) || !driver.view(accelerometers) || !driver.view(magnetometers) ||
        !driver.view(orientations) || !driver.view(temperatures) || !driver.view(wrenches) ||
        !driver.view(positions) || !driver.view(encoders) || !driver.view(patches) || !driver.view(cells)) {
        std::printf("an interface is missing\n");
        return 2;
    }
    // Every group has the status of the stream; it is 0 once a message was read.
    for (int i = 0; i < 500 && gyroscopes->getThreeAxisGyroscopeStatus(0) != MAS_OK; ++i) Time::delay(0.01);

    READ("gyroscope", ThreeAxisGyroscope, gyroscopes)
    READ("accelerometer", ThreeAxisLinearAccelerometer, accelerometers)
    READ("magnetometer", ThreeAxisMagnetometer, magnetometers)
    READ("temperature", TemperatureSensor, temperatures)
    READ("wrench", SixAxisForceTorqueSensor, wrenches)
    READ("position", PositionSensor, positions)
    READ_ARRAYS("encoders", EncoderArray, EncoderArrays, encoders)
    READ_ARRAYS("skin", SkinPatch, SkinPatches, patches)
    READ_ARRAYS("cells", ContactLoadCellArray, ContactLoadCellArrays, cells)
    for (size_t i = 0; i < orientations->getNrOfOrientationSensors(); ++i) {
        std::string name, frame;
        yarp::sig::Vector numbers;
        double stamp = 0.0;
        bool good = orientations->getOrientationSensorName(i, name) && orientations->getOrientationSensorFrameName(i, frame);
        good = orientations->getOrientationSensorMeasureAsRollPitchYaw(i, numbers, stamp) && good;
        report("orientation", name, frame, good, orientations->getOrientationSensorStatus(i), stamp, numbers);
    }
    std::printf("sensors %d failed %d\n", sensors, failed);
    driver.close();
    return failed || !sensors ? 1 : 0;
}
